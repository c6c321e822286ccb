const FRAME = /^ {4}at .*(:\d+:\d+|<anonymous>|native)\)?$/;

/** Where an error was thrown: its first frames, each on a line of its own; without its message, which may hold secrets. */
export function stackFrames(error: unknown, most: number): string {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return '';
  // A message may have lines that look like frames: those of the stack are the last ones, without a gap.
  const lines = error.stack.replace(error.message, '').split('\n');
  const start = lines.findLastIndex((line) => !FRAME.test(line)) + 1;
  return lines
    .slice(start, start + most)
    .map((line) => `\n${line}`)
    .join('');
}
