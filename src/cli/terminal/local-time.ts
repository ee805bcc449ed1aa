// A time for people: `2026-11-15 11:24:49`, in the reader's time zone.

export function localTime(ms: number): string {
  const date = new Date(ms);
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join("-");
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  return `${day} ${time}`;
}

function two(number: number): string {
  return String(number).padStart(2, "0");
}
