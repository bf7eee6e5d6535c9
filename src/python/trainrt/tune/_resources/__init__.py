"""Resources of trials."""
