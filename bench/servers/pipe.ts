/** The floor: a child that gives back the bytes it gets. */
process.stdin.pipe(process.stdout);
