/** The exit codes of the command. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  misuse: 2,
  toolError: 3,
  unreachable: 4,
  late: 5,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export const exitCodeHelp: readonly (readonly [code: string, meaning: string])[] = [
  ["0", "done"],
  ["1", "the call failed, or the server has no such tool, prompt or resource"],
  ["2", "wrong usage; nothing was called"],
  ["3", "the tool reported an error"],
  ["4", "cannot connect to the server, or cannot start it"],
  ["5", "timed out"],
  ["130", "interrupted (143 terminated, 129 hung up)"],
];
