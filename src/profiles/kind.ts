import type { Kind } from '../base/kinds.ts'
import type { Profile } from './profile.ts'

/** A profile, as an option takes it; telling one loads none. */
export const PROFILE: Kind<Profile> = {
  must: 'a profile; import one from pierhead/profiles',
  is: (value) => typeof (value as Partial<Profile> | null)?.install === 'function',
}
