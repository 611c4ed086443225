/** Text without anything that a terminal would act on: escape sequences, control and direction characters. */
export function plainText(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, '')
}

// Written as text, because control characters in a pattern are easily lost in an editor.
const SEQUENCES = new RegExp(
  [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    '\\u001b[ -/]*[0-~]?',
  ].join('|'),
  'g',
)
const CONTROLS = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]',
  'g',
)
