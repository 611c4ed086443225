import { CHOICES, type Choices } from '../protocol/choices.ts'
import { Profile } from './profile.ts'

/** The wire habits of erlmcp, at the revisions with a handshake. Officially written messages are understood too. */
export const erlmcp: Profile = /* @__PURE__ */ new Profile(
  /* @__PURE__ */ Object.fromEntries(
    /* @__PURE__ */ Object.entries(CHOICES).map(([name, row]) => [name, row.erlmcp]),
  ) as Choices,
)
