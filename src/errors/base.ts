/* Errors in options, which every module checks. */

export const BAD_OPTION = {
  kind: 'bad_option',
  where: 'local',
  code: -32603,
  text: '{where}: {reason}',
  hint: 'Correct the option.',
} as const
