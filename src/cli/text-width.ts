/** Characters that take two columns of a terminal: those of East Asia, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u
/** Characters that are drawn over the one before. */
const NARROW = /^(?:\p{M}|\p{Cf})$/u

/** The columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  let width = 0
  for (const char of text) width += columnsOf(char)
  return width
}

function columnsOf(char: string): number {
  return NARROW.test(char) ? 0 : WIDE.test(char) ? 2 : 1
}

/** A text of one line that takes at most so many columns; an ellipsis stands for the rest. */
export function cutToWidth(text: string, most: number): string {
  if (widthOf(text) <= most) return text
  let [width, cut] = [1, '']
  for (const char of text) {
    width += columnsOf(char)
    if (width > most) break
    cut += char
  }
  return most < 1 ? '' : `${cut.trimEnd()}…`
}
