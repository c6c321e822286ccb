const SEPARATORS = [',', ';', '\t'] as const;

/** Returns the place after the first row that is not empty, outside quotes; -1 if the row is not complete. */
export function endOfFirstRow(text: string): number {
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === '\n' || character === '\r') && text.slice(0, at).trim() !== '') return at;
  }
  return -1;
}

/** Returns the separator of a file: the one of comma, semicolon and tab that its first row has most often. */
export function separatorOf(row: string): string {
  const plain = row.replaceAll(/"[^"]*"/g, '');
  const counts = SEPARATORS.map((separator) => plain.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ',';
}
