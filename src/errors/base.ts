/* Errors in options, which every module checks. */

export const BAD_OPTION = {
  kind: 'bad_option',
  where: 'local',
  code: -32603,
  text: '{where}: {reason}',
  hint: 'Pass a valid value: the type of the option and its comment, which your editor shows, say what it takes.',
} as const
