/** A word as it is typed in a shell: with quotes, unless it has only characters that mean nothing to one. */
export function shellWord(word: string): string {
  if (/^[\w./\\:@=+-]+$/.test(word)) return word
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
