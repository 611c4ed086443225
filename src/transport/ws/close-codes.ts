/** The reasons for ending a WebSocket that are used here, by the numbers that RFC 6455 gives them. */
export const CLOSE = {
  done: 1000,
  goingAway: 1001,
  notText: 1003,
  policy: 1008,
  tooLarge: 1009,
  tryLater: 1013,
} as const
