"""Ray Train's folder of its second version: what scripts import from there."""
