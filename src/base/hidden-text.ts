/**
 * The source of a pattern, with the flag `u`, for characters that nobody sees although they can carry text: those that Unicode says
 * are not shown, blank Braille, and halves of characters. Selectors that choose how an emoji looks are not among them, unless they
 * are in a row.
 */
export const HIDDEN: string = String.raw`[\p{Cs}\u2800\uFFF9-\uFFFB]|(?![\uFE0E\uFE0F])\p{Default_Ignorable_Code_Point}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}]|[\d#*](?=\uFE0F\u20E3))[\uFE0E\uFE0F]`

/** A pattern that finds all hidden characters, and those that another source matches. */
export function hiddenOr(others: string): RegExp {
  // Nearly all characters are none of them.
  return new RegExp(`(?![ -~])(?:${HIDDEN}|${others})`, 'gu')
}
