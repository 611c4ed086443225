const HIDDEN = '***'
/** The shortest beginning of a secret that is hidden before an ellipsis. */
const BEFORE_ELLIPSIS = 4
/** The shortest one that is hidden where a word ends: half of the secret, and at least so much. */
const BEFORE_END = 8
const ELLIPSIS = /^\s?…/
/** What begins here does not continue a token or a path. */
const END = /^(?:[^\w/]|$)/

/** A text without these secrets, and without their beginnings where it may have been cut off. */
export function masked(text: string, secrets: Iterable<string>): string {
  // A long one may contain a short one, and whole ones come before parts, since several may begin alike.
  const all = [...secrets].toSorted((a, b) => b.length - a.length)
  const rest = all.reduce((some, secret) => some.replaceAll(secret, HIDDEN), text)
  return all.reduce(withoutPart, rest)
}

function withoutPart(text: string, secret: string): string {
  const start = secret.slice(0, BEFORE_ELLIPSIS)
  const least = Math.max(BEFORE_END, Math.ceil(secret.length / 2))
  let shown = ''
  let from = 0
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, Math.max(from, at + 1))) {
    let end = at + start.length
    while (end - at < secret.length && text[end] === secret[end - at]) end++
    const next = text.slice(end, end + 2)
    if (!ELLIPSIS.test(next) && (end - at < least || !END.test(next))) continue
    shown += text.slice(from, at) + HIDDEN
    from = end
  }
  return shown + text.slice(from)
}
