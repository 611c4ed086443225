import { hiddenOr } from './hidden-text.ts'

const UNSAFE = hiddenOr(String.raw`[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]`)

/** JSON that is safe on a terminal too: what a terminal could obey or would not show is escaped, which JSON allows in strings. */
export function safeJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replace(UNSAFE, (char) =>
    Array.from(
      { length: char.length },
      (_, i) => `\\u${char.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  )
}
