import { oneOf, type Kind } from '../../base/kinds.ts'

/** The names that options use for the ways to separate messages on a socket. */
export type FramingName = 'lines' | 'length-prefix'

export const FRAMING: Kind<FramingName> = /* @__PURE__ */ oneOf('lines', 'length-prefix')
