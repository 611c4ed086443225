/** Texts that some databases and encodings do not keep. */
export const ODD_TEXTS: readonly string[] = [
  'a\0b',
  '\0',
  'lone \ud800 surrogate',
  '\udfff',
  'emoji 😀 é',
  '\u0001"marked"',
  `quotes ' " \` \\ ; --`,
  'lines\r\n\t\u2028',
  '\uffff\ufeff',
  '__proto__',
]
