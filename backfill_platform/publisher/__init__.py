"""One commit of metadata makes a run's partitions visible, or none of them."""
