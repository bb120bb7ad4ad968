"""What users call: a folder per family, each with its classifier, plan and trainer."""
