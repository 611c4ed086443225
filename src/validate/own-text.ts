/** A part of a long text keeps all of it in memory, unless it is longer than this; then it is likely to be most of it. */
const LONGEST = 65_536

/** The same text in memory of its own, so that it does not keep a longer one which it is a part of. */
export function ownText(text: string): string {
  return text.length > LONGEST ? text : (JSON.parse(JSON.stringify(text)) as string)
}
