"""An organisation of any size, generated from a seed as facts and sentences."""
