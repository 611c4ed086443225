/** How messages are separated on a socket, as the options of commands and the client name it. */
export const FRAMINGS = ['lines', 'length-prefix'] as const

export type Framing = (typeof FRAMINGS)[number]
