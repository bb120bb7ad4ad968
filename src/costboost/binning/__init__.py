"""Table -> codes: one byte per cell, the same whatever the table was."""
