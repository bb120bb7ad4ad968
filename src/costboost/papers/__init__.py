"""What the papers claim, computed: `python -m costboost.papers.properties`."""
