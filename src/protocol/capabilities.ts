import type { Revision } from './revisions.ts'

export interface CapabilityFlag {
  readonly since: Revision
  readonly until?: Revision
  readonly about: string
}

export interface CapabilityRow {
  /** The side that declares it. */
  readonly side: 'client' | 'server' | 'both'
  /** First and last revision that has the capability; without `until` it is current. */
  readonly since: Revision
  readonly until?: Revision
  /** The revision from which it is deprecated. */
  readonly deprecated?: Revision
  /** Members of the capability that add to it. */
  readonly flags?: Readonly<Record<string, CapabilityFlag>>
  /** The meaning of the declaration. */
  readonly about: string
}

/** Capabilities of clients, one row each. The presence of the object is the declaration; its members add to it. */
// oxfmt-ignore
export const CLIENT_CAPABILITIES = {
  roots:        { side: 'client', since: '2024-11-05', deprecated: '2026-07-28', about: 'Answers `roots/list` with the folders that it works in.', flags: {
    listChanged:  { since: '2024-11-05', until: '2025-11-25', about: 'Sends `notifications/roots/list_changed`.' } } },
  sampling:     { side: 'client', since: '2024-11-05', deprecated: '2026-07-28', about: 'Answers `sampling/createMessage` with a message from its model.', flags: {
    tools:        { since: '2025-11-25', about: 'Accepts `tools` and `toolChoice`.' },
    context:      { since: '2025-11-25', about: 'Accepts `includeContext` other than `none`.' } } },
  elicitation:  { side: 'client', since: '2025-06-18', about: 'Answers `elicitation/create`; without members, only forms.', flags: {
    form:         { since: '2025-11-25', about: 'Shows forms.' },
    url:          { since: '2025-11-25', about: 'Sends the user to a URL.' } } },
} as const
CLIENT_CAPABILITIES satisfies Record<string, CapabilityRow>

/** Capabilities of servers, and of both sides. */
// oxfmt-ignore
export const SERVER_CAPABILITIES = {
  tools:        { side: 'server', since: '2024-11-05', about: 'Answers `tools/list` and `tools/call`.', flags: {
    listChanged:  { since: '2024-11-05', about: 'Announces that the list changed.' } } },
  resources:    { side: 'server', since: '2024-11-05', about: 'Answers `resources/list`, `resources/templates/list` and `resources/read`.', flags: {
    subscribe:    { since: '2024-11-05', about: 'Announces changes of single resources to subscribers.' },
    listChanged:  { since: '2024-11-05', about: 'Announces that the list changed.' } } },
  prompts:      { side: 'server', since: '2024-11-05', about: 'Answers `prompts/list` and `prompts/get`.', flags: {
    listChanged:  { since: '2024-11-05', about: 'Announces that the list changed.' } } },
  completions:  { side: 'server', since: '2025-03-26', about: 'Answers `completion/complete`, which 2024-11-05 has without a capability.' },
  logging:      { side: 'server', since: '2024-11-05', deprecated: '2026-07-28', about: 'Sends `notifications/message` at or above the chosen level.' },

  tasks:        { side: 'both', since: '2025-11-25', until: '2025-11-25', about: 'Runs requests as tasks; experimental.', flags: {
    list:         { since: '2025-11-25', until: '2025-11-25', about: 'Answers `tasks/list`.' },
    cancel:       { since: '2025-11-25', until: '2025-11-25', about: 'Answers `tasks/cancel`.' },
    requests:     { since: '2025-11-25', until: '2025-11-25', about: 'Lists the requests that may run as tasks.' } } },
  extensions:   { side: 'both', since: '2026-07-28', about: 'Lists extensions by identifier, each with its settings.' },
  experimental: { side: 'both', since: '2024-11-05', about: 'Lists features that no revision defines.' },
} as const
SERVER_CAPABILITIES satisfies Record<string, CapabilityRow>
