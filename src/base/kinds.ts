import { isDuration, type Duration } from './duration.ts'

/** A kind of value that an option takes: how to tell it, and what to call it in an error. */
export interface Kind<Value> {
  /** The end of a sentence: "port must be …". */
  readonly must: string
  is(value: unknown): boolean
  /** Suggests what to write instead, if there is an obvious correction. */
  write?(name: string, value: unknown): string | undefined
  /** Whether errors may repeat a text that was given; not where it may be a secret. */
  readonly repeats?: boolean
  /** Never there. It ties a kind to exactly one type: neither a wider nor a narrower one fits. */
  readonly type?: (value: Value) => Value
}

/**
 * The kind of each member of an options type: a member without one does not compile, nor does a kind of another type, nor a
 * required member whose kind is not `required`.
 */
export type KindsOf<Options> = {
  readonly [Name in keyof Options]-?: object extends Pick<Options, Name>
    ? Kind<Exclude<Options[Name], undefined>> & { readonly required?: undefined }
    : RequiredKind<Options[Name]>
}

export interface RequiredKind<Value> extends Kind<Value> {
  readonly required: true
  readonly missing?: string | undefined
}

/** The kind of a member that cannot be left out; `missing` says so in other words than usual. */
/* @__NO_SIDE_EFFECTS__ */
export function required<Value>(kind: Kind<Value>, missing?: string): RequiredKind<Value> {
  return { ...kind, required: true, missing }
}

export const TEXT: Kind<string> = { must: 'a string', is: (value) => typeof value === 'string' }

export const FLAG: Kind<boolean> = { must: 'true or false', is: (value) => typeof value === 'boolean' }

export const OFF: Kind<false> = { must: 'false', is: (value) => value === false }

export const NUMBER: Kind<number> = {
  must: 'a number',
  is: (value) => typeof value === 'number' && !Number.isNaN(value),
  repeats: true,
}

export const COUNT: Kind<number> = {
  must: 'a whole number above 0',
  is: (value) => Number.isInteger(value) && (value as number) > 0,
  repeats: true,
}

export const PORT: Kind<number> = {
  must: 'a whole number from 0 to 65535 (0 means any free port)',
  // Text in digits too: environment variables hold nothing else.
  is: (value) => (Number.isInteger(value) || /^\d+$/.test(String(value))) && isPort(Number(value)),
  repeats: true,
}

export const DURATION: Kind<Duration> = {
  must: `a duration: milliseconds, or text such as '250ms', '20s', '2m' or '1h'`,
  is: isDuration,
  repeats: true,
}

export const SIGNAL: Kind<AbortSignal> = {
  must: 'an AbortSignal',
  is: (value) => isObject(value) && 'aborted' in value,
}

/** One of a few words. */
/* @__NO_SIDE_EFFECTS__ */
export function oneOf<const Word extends string>(...words: readonly Word[]): Kind<Word> {
  const quoted = words.map((word) => `'${word}'`)
  const last = quoted.pop()
  return {
    must: quoted.length === 0 ? `${last}` : `${quoted.join(', ')} or ${last}`,
    is: (value) => words.includes(value as Word),
    repeats: true,
  }
}

/** A list whose elements are of one kind. */
/* @__NO_SIDE_EFFECTS__ */
export function listOf<Value>(kind: Kind<Value>): Kind<readonly Value[]> {
  return {
    must: `a list, each element ${kind.must}`,
    is: (value) => Array.isArray(value) && value.every((one) => kind.is(one)),
    write(name, value) {
      if (typeof value === 'string') {
        // A text with several values, as OAuth writes scopes, becomes several elements.
        const parts = kind.is(value) ? [value] : value.split(/[\s,]+/).filter((part) => part !== '')
        const isFit = parts.length > 0 && parts.every((part) => kind.is(part))
        return isFit ? `write ${name}: [${parts.map((part) => `'${part}'`).join(', ')}]` : undefined
      }
      const list: readonly unknown[] = Array.isArray(value) ? value : []
      const wrong = list.findIndex((one) => !kind.is(one))
      if (wrong < 0) return undefined
      return kind.repeats === true ? `${JSON.stringify(list[wrong])} is not` : `element ${wrong + 1} is not`
    },
  }
}

/** A value of either of two kinds. */
/* @__NO_SIDE_EFFECTS__ */
export function either<One, Other>(one: Kind<One>, other: Kind<Other>): Kind<One | Other> {
  return {
    must: `${one.must}, or ${other.must}`,
    is: (value) => one.is(value) || other.is(value),
    repeats: one.repeats === true && other.repeats === true,
  }
}

/** An object, described by what it holds; its members are checked elsewhere. */
/* @__NO_SIDE_EFFECTS__ */
export function object<Value extends object>(must: string = 'an object'): Kind<Value> {
  return { must, is: (value) => isObject(value) && !Array.isArray(value) }
}

/** A function. */
/* @__NO_SIDE_EFFECTS__ */
export function callable<Value>(must: string = 'a function'): Kind<Value> {
  return { must, is: (value) => typeof value === 'function' }
}

/** Anything: what it must be is checked elsewhere, in better words than these. */
/* @__NO_SIDE_EFFECTS__ */
export function anything<Value>(): Kind<Value> {
  return { must: 'anything', is: () => true }
}

function isPort(number: number): boolean {
  return number >= 0 && number <= 65_535
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
