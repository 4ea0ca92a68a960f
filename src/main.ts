/** argv → command → exit code. The only reader of process.argv and process.env. */
process.stdout.write("snapkeep\n");
