"""What the AdaBoost family asks of those who hold rows."""
