/** The reasons for ending a WebSocket that are used here, by the numbers of RFC 6455; from 4000 on they are ours. */
export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  notText: 1003,
  policy: 1008,
  tooLarge: 1009,
  tryLater: 1013,
  replaced: 4001,
} as const
