/* Errors in options, which every module checks. */

export const BAD_OPTION = {
  kind: 'bad_option',
  where: 'local',
  code: -32603,
  text: '{where}: {reason}',
  hint: 'Pass a valid value: the message says which; your editor shows the comment of the option.',
} as const
