/** The program that a command names. What follows a space are arguments, which may be secret, even if they do not belong there. */
export function programName(command: string): string {
  const [name = ''] = command.trim().split(/\s/, 1)
  return name === command ? name : `${name} …`
}
