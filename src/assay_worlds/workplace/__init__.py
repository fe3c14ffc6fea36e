"""An organisation of any size as facts and sentences, generated from a seed."""
