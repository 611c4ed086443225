import { oneOf, type Kind } from '../../base/kinds.ts'

/** How messages on a socket are told apart, as options name it. */
export type FramingName = 'lines' | 'length-prefix'

export const FRAMING: Kind<FramingName> = /* @__PURE__ */ oneOf('lines', 'length-prefix')
