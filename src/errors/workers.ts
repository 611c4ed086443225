/* Errors of several processes behind one port. */

export const WORKERS_FAILED = {
  kind: 'workers_failed',
  where: 'local',
  code: -32000,
  text: 'worker processes could not start ({times} in a row): {reason}',
  hint: 'Run the program without workers to see its error. Every worker runs the whole program, and must come to listen.',
} as const
