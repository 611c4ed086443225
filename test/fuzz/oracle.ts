import type { Finding } from '../../src/wire/full-scan.ts'

/** What `scan` must find in a text that JSON.parse takes, worked out slowly and letter by letter. */
export function findingOf(text: string, maxDepth: number): Finding | undefined {
  const reader = new Reader(text, maxDepth)
  try {
    reader.read(1, 'top')
  } catch (thrown) {
    if (thrown instanceof Found) return thrown.finding
    throw thrown
  }
  const { ids } = reader
  if (ids.some((id) => id === 'unusable')) return { kind: 'id' }
  return ids.every((id) => id === undefined)
    ? undefined
    : { kind: 'ids', ids: ids as readonly (bigint | undefined)[] }
}

/** Findings without what an unequal length of trailing gaps would tell apart. */
export function sameFinding(one: Finding | undefined, other: Finding | undefined): boolean {
  return textOf(one) === textOf(other)
}

function textOf(finding: Finding | undefined): string {
  if (finding?.kind === 'ids')
    return `ids ${finding.ids
      .map((id) => id ?? '')
      .join(' ')
      .trimEnd()}`
  return finding?.kind === 'duplicate' ? `duplicate ${finding.key}` : (finding?.kind ?? 'nothing')
}

class Found extends Error {
  readonly finding: Finding

  constructor(finding: Finding) {
    super(finding.kind)
    this.finding = finding
  }
}

/** What a value is to its message. Everything in the params has their role. */
type Role = 'top' | 'message' | 'params' | 'other'

class Reader {
  readonly ids: (bigint | 'unusable' | undefined)[] = []
  readonly #text: string
  readonly #maxDepth: number
  #at = 0
  #member = 0

  constructor(text: string, maxDepth: number) {
    this.#text = text
    this.#maxDepth = maxDepth
  }

  /** Reads one value and gives back its text. */
  read(depth: number, role: Role): string {
    this.#space()
    const from = this.#at
    const first = this.#text[from]
    if (first === '{') this.#object(depth, role === 'top' ? 'message' : role)
    else if (first === '[') this.#list(depth, role)
    else if (first === '"') this.#string()
    else this.#scalar()
    const text = this.#text.slice(from, this.#at)
    this.#space()
    return text
  }

  #object(depth: number, role: Role): void {
    if (depth > this.#maxDepth) throw new Found({ kind: 'deep' })
    const keys = new Set<string>()
    this.#at++
    this.#space()
    while (this.#text[this.#at] === '"') {
      const key = JSON.parse(this.#string()) as string
      if (role !== 'other' && keys.has(key))
        throw new Found({ kind: 'duplicate', key: key.length > 128 ? `${key.slice(0, 128)}…` : key })
      keys.add(key)
      this.#space()
      this.#at++
      const value = this.read(depth + 1, innerRole(role, key))
      if (role === 'message' && key === 'id') this.ids[this.#member] = idOf(value)
      if (this.#text[this.#at] === ',') this.#at++
      this.#space()
    }
    this.#at++
  }

  #list(depth: number, role: Role): void {
    if (depth > this.#maxDepth) throw new Found({ kind: 'deep' })
    this.#at++
    this.#space()
    while (this.#text[this.#at] !== ']') {
      this.read(depth + 1, role === 'top' ? 'message' : role === 'params' ? role : 'other')
      if (role === 'top') this.#member++
      if (this.#text[this.#at] === ',') this.#at++
    }
    this.#at++
  }

  #string(): string {
    const text = this.#text
    const from = this.#at++
    for (let code = text.charCodeAt(this.#at); code !== 34; code = text.charCodeAt(this.#at))
      this.#at += code === 92 ? 2 : 1
    this.#at++
    return text.slice(from, this.#at)
  }

  #scalar(): void {
    const text = this.#text
    for (let code = text.charCodeAt(this.#at); code > 32; code = text.charCodeAt(++this.#at))
      if (code === 44 || code === 93 || code === 125) return
  }

  #space(): void {
    for (let code = this.#text.charCodeAt(this.#at); code === 32 || code === 9 || code === 10 || code === 13;)
      code = this.#text.charCodeAt(++this.#at)
  }
}

function innerRole(role: Role, key: string): Role {
  return role === 'params' || (role === 'message' && key === 'params') ? 'params' : 'other'
}

function idOf(text: string): bigint | 'unusable' | undefined {
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(Number(text))) return undefined
  return text.replace('-', '').length > 1024 ? 'unusable' : BigInt(text)
}
