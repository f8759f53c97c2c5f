// texting_robots as a reader of languages.ts.
use std::io::BufRead;

extern "C" {
    fn clock() -> std::ffi::c_long;
}

struct Site {
    robots: Vec<u8>,
    urls: Vec<String>,
}

fn line_of(file: &mut &[u8]) -> String {
    let mut line = String::new();
    file.read_line(&mut line).unwrap();
    line.trim_end_matches('\n').to_string()
}

fn sites_in(name: &str) -> Vec<Site> {
    let bytes = std::fs::read(name).unwrap();
    let mut file: &[u8] = &bytes;
    let mut sites = Vec::new();
    while !file.is_empty() {
        let sizes: Vec<usize> = line_of(&mut file).split(' ').map(|size| size.parse().unwrap()).collect();
        let robots = file[..sizes[0]].to_vec();
        file = &file[sizes[0] + 1..];
        let urls = (0..sizes[1]).map(|_| line_of(&mut file)).collect();
        sites.push(Site { robots, urls });
    }
    sites
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let sites = sites_in(&args[1]);
    for line in std::io::stdin().lock().lines() {
        let count: usize = line.unwrap().parse().unwrap();
        let mut allowed = 0;
        let start = unsafe { clock() };
        for site in &sites {
            if let Ok(robot) = texting_robots::Robot::new(&args[2], &site.robots) {
                allowed += site.urls[..count].iter().filter(|url| robot.allowed(url)).count();
            }
        }
        // POSIX: a million clocks are a second.
        println!("{} {}", unsafe { clock() - start } as f64 * 1e3 / sites.len() as f64, allowed);
    }
}
