import { CHOICES, type Choices } from '../protocol/choices.ts'
import { Profile } from './profile.ts'

/** Compatibility with erlmcp, at the revisions with a handshake. Official messages are understood too. */
export const erlmcp: Profile = /* @__PURE__ */ new Profile(
  /* @__PURE__ */ Object.fromEntries(
    /* @__PURE__ */ Object.entries(CHOICES).map(([name, row]) => [name, row.erlmcp]),
  ) as Choices,
)
