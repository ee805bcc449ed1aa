// Calls somebody else's function that is only told something: what it throws goes to `onError`, and what its promise is
// rejected with, which would end the process.

export function tell(call: () => unknown, onError: (error: unknown) => void): void {
  try {
    const answer = call();
    if (answer instanceof Promise) answer.catch(onError);
  } catch (error) {
    onError(error);
  }
}
