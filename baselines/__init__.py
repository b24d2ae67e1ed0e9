"""Who plays the principal: scripted principals, trained ones, and how they are compared."""
