"""Room 4: targets become networks. Many runs train side by side in one loop."""
