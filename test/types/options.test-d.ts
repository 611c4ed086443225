import { FLAG, NUMBER, object, oneOf, required, TEXT, type KindsOf } from '../../src/base/kinds.ts'

interface Options {
  readonly name: string
  readonly mode?: 'fast' | 'slow'
  readonly inner?: { readonly deep: number }
}

const whole: KindsOf<Options> = {
  name: required(TEXT),
  mode: oneOf('fast', 'slow'),
  inner: object<{ readonly deep: number }>(),
}

// @ts-expect-error a member of the options has no kind
export const missing: KindsOf<Options> = { name: whole.name, mode: whole.mode }

export const extra: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error there is no such option
  other: FLAG,
}

export const wrong: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error a name is no number
  name: required(NUMBER),
}

export const narrower: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error slow would be refused
  mode: oneOf('fast'),
}

export const wider: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error any text would pass
  mode: TEXT,
}

export const optional: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error a name cannot be left out
  name: TEXT,
}

export const demanded: KindsOf<Options> = {
  ...whole,
  // @ts-expect-error a mode can be left out
  mode: required(oneOf('fast', 'slow')),
}
