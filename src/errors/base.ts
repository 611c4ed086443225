/* Errors in options, which every module checks. */

export const BAD_OPTION = {
  kind: 'bad_option',
  where: 'local',
  code: -32603,
  text: '{where}: {reason}',
  hint: 'Pass a valid value; docs/reference/exports.md lists the options and their types.',
} as const
