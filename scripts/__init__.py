"""What is needed beside the product: its set-up and its documentation."""
