export { erlmcp } from './profiles/erlmcp.ts'
export { official } from './profiles/official.ts'
export { Profile } from './profiles/profile.ts'
export type { Choices } from './protocol/choices.ts'
