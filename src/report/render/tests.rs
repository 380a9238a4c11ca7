//! Pictures as a whole: what is seen, what is refused, and that wrinkles show.

use super::*;

const SIDE: usize = 128;

/// Looking down along z, with y upwards.
fn from_above() -> Projection {
    Projection {
        toward_viewer: [0.0, 0.0, 1.0],
        up: [0.0, 1.0, 0.0],
        width: SIDE,
        height: SIDE,
        ..Projection::default()
    }
}

/// A square sheet of side 1 m with `count` cells a side, at a height.
fn sheet(count: usize, height: impl Fn(f64, f64) -> f64) -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let along = |index: usize| index as f64 / count as f64;
    let row = count + 1;
    let point = |vertex: usize| {
        let (x, y) = (along(vertex % row), along(vertex / row));
        [x, y, height(x, y)]
    };
    let cell = |index: usize| {
        let corner = index / count * row + index % count;
        let (right, above) = (corner + 1, corner + row);
        [[corner, right, above], [right, above + 1, above]]
    };
    (
        (0..row * row).map(point).collect(),
        (0..count * count).flat_map(cell).collect(),
    )
}

fn scene<'a>(mesh: &'a (Vec<[f64; 3]>, Vec<[usize; 3]>)) -> Drawing<'a> {
    Drawing {
        cloth: Surface {
            positions: &mesh.0,
            triangles: &mesh.1,
        },
        view: from_above(),
        ..Drawing::default()
    }
}

fn pixel(pixels: &[u8], x: usize, y: usize) -> [i32; 3] {
    let start = 3 * (y * SIDE + x);
    [0, 1, 2].map(|part| i32::from(pixels[start + part]))
}

fn middle(scene: &Drawing) -> [i32; 3] {
    pixel(&scene.pixels().expect("a picture"), SIDE / 2, SIDE / 2)
}

/// The front is blue, the back sand, the obstacle grey where it is nearer, and the border empty.
#[test]
fn the_nearest_is_seen_from_its_side() {
    let mesh = sheet(4, |_, _| 0.0);
    let front = scene(&mesh);
    let [red, _, blue] = middle(&front);
    assert!(blue > red + 20, "{red} {blue}");
    let mut back = front;
    back.view.toward_viewer = [0.0, 0.0, -1.0];
    let [red, _, blue] = middle(&back);
    assert!(red > blue + 20, "{red} {blue}");
    let plate = sheet(1, |_, _| 0.1);
    let obstacles = [scene(&plate).cloth];
    let obstacles = &obstacles;
    let [red, green, blue] = middle(&Drawing { obstacles, ..front });
    assert!(red == green && green == blue, "{red} {green} {blue}");
    assert_eq!(middle(&Drawing { obstacles, ..back }), middle(&back));
    let pixels = front.pixels().expect("a picture");
    assert_eq!(
        pixel(&pixels, SIDE / 2, 2),
        color::BACKGROUND.map(i32::from)
    );
}

/// Wrinkles of 4 mm in a sheet of 1 m show across the key light and along it, which plain lights do
/// not (91 and 11 of 765 without the relief, 97 and 37 with it). The flat sheet is even.
#[test]
fn wrinkles_show() {
    let spread = |height: &dyn Fn(f64, f64) -> f64| {
        let mesh = sheet(64, height);
        let pixels = scene(&mesh).pixels().expect("a picture");
        // Within the sheet and above the scale bar.
        let inside = 24..SIDE - 40;
        let light = |x, y| pixel(&pixels, x, y).iter().sum::<i32>();
        let lights = || {
            inside
                .clone()
                .flat_map(|y| inside.clone().map(move |x| light(x, y)))
        };
        lights().max().expect("pixels") - lights().min().expect("pixels")
    };
    let wave = |x: f64| 0.004 * (50.0 * x).sin();
    assert_eq!(spread(&|_, _| 0.0), 0);
    assert!(spread(&|x, _| wave(x)) > 60);
    assert!(spread(&|_, y| wave(y)) > 20);
}

/// Degenerate triangles and empty obstacles change nothing, nor does the number of cores.
#[test]
fn the_same_scene_gives_the_same_bytes() {
    let mut mesh = sheet(8, |x, y| 0.1 * (9.0 * x * y).sin());
    let expected = scene(&mesh).png().expect("a picture");
    mesh.1.extend([[0, 0, 1], [5, 5, 5], [0, 1, 2]]);
    let obstacles = &[Surface::default()];
    let drawn = || {
        let scene = scene(&mesh);
        Drawing { obstacles, ..scene }.png().expect("a picture")
    };
    assert!(drawn() == expected);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let bytes = pool.expect("threads").install(drawn);
        assert!(bytes == expected, "{threads} threads");
    }
}

/// The file is a PNG of the size asked for; values have their colours and their bar.
#[test]
fn values_are_coloured() {
    let mesh = sheet(4, |_, _| 0.0);
    let numbers: Vec<f64> = mesh.0.iter().map(|point| point[0] - 0.5).collect();
    let mut scene = scene(&mesh);
    scene.values = Some(VertexValues {
        values: &numbers,
        label: "κ [1/m]",
        ..VertexValues::default()
    });
    let pixels = scene.pixels().expect("a picture");
    let [low, high] = [12, SIDE - 12].map(|x| pixel(&pixels, x, SIDE / 2));
    assert!(
        low[2] > high[2] + 50 && high[0] > high[2] + 50,
        "{low:?} {high:?}"
    );
    let bytes = std::io::Cursor::new(scene.png().expect("a file"));
    let reader = png::Decoder::new(bytes).read_info().expect("a header");
    assert_eq!(reader.info().size(), (SIDE as u32, SIDE as u32));
    scene.values = Some(VertexValues::default());
    let refusal = scene.png().expect_err("no values").to_string();
    assert!(refusal.contains("0 values for 25 vertices"), "{refusal}");
}

/// What cannot be drawn is refused with its name.
#[test]
fn refuses_what_cannot_be_drawn() {
    let refusal = |scene: &Drawing| scene.png().expect_err("a bad scene").to_string();
    assert!(refusal(&Drawing::default()).contains("the cloth has 0 vertices"));
    let mut mesh = sheet(2, |_, _| 0.0);
    let good = scene(&mesh);
    let path = Path::new("picture.jpg");
    let message = good.save(path).expect_err("jpg").to_string();
    assert!(message.contains("picture.jpg: the file name"), "{message}");
    let bad = [Surface {
        triangles: &[[0, 1, 99]],
        ..good.cloth
    }];
    let obstacles = &bad;
    assert!(refusal(&Drawing { obstacles, ..good }).contains("obstacle 0 has a triangle"));
    mesh.0[4][2] = f64::NAN;
    assert!(refusal(&scene(&mesh)).contains("vertex 4 of the cloth"));
    mesh.0.fill([1.0; 3]);
    assert!(refusal(&scene(&mesh)).contains("no size across the view"));
}
