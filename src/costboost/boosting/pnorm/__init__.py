"""The L_p family of Lozano and Abe: one `Method` per algorithm and one loop."""
