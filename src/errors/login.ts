/* Errors of clients that log in. */

export const LOGIN_FAILED = {
  kind: 'login_failed',
  where: 'local',
  code: -32000,
  text: 'cannot log in to {server}: {reason}',
  hint: 'The last step of the list failed. Correct what the message names: an option of the auth method, the server, or its issuer.',
} as const

export const LOGIN_NEEDED = {
  kind: 'login_needed',
  where: 'local',
  code: -32000,
  text: '{server} needs a login, which storedOnly forbids: {reason}',
  hint: 'Log in once without storedOnly and with the same vault, or use a method that needs no person, such as clientCredentials.',
} as const
