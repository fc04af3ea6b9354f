/** Functions of a program with which one event keeps the engine busy: `spin(rounds)`, for longer than it may from one round on. */
export const spinFunctions = `fn burn() -> int:
  var total = 0
  for i in 0..900000:
    total := total + len(0..200)
  return total

fn spin(rounds: int) -> int:
  var total = 0
  for i in 0..rounds:
    total := total + burn()
  return total
`;
