"""The loops: weights or gradients -> a learner -> a step, round after round."""
