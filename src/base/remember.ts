/** A pure function of texts that remembers its last results: at most `size`, after which it starts anew. */
export function remember<Result>(read: (text: string) => Result, size: number): (text: string) => Result {
  const known = new Map<string, Result>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const result = read(text)
    if (known.size >= size) known.clear()
    known.set(text, result)
    return result
  }
}
