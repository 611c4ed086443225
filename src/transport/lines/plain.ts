/** Removes what a terminal would interpret: escape sequences, control and bidirectional characters. */
export function plainText(text: string): string {
  return text.replace(SEQUENCES, '').replace(CONTROLS, '')
}

const SEQUENCES = /* @__PURE__ */ sequences()
const CONTROLS = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

function sequences(): RegExp {
  const parts = [
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    '\\u001b[ -/]*[0-~]?',
  ]
  return new RegExp(parts.join('|'), 'g')
}
