import { CHOICES, type Choices } from '../protocol/choices.ts'
import { Profile } from './profile.ts'

/** The published protocol, as a base for single choices: `official.with({ batch: 'always' })`. */
export const official: Profile = /* @__PURE__ */ new Profile(
  /* @__PURE__ */ Object.fromEntries(
    /* @__PURE__ */ Object.entries(CHOICES).map(([name, { values }]) => [name, values[0]]),
  ) as Choices,
)
